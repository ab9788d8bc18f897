# What `cmake --install` puts where, and `cpack` into a Debian package. The program finds
# share/sawtooth from where it lies itself, so a prefix can be moved. find_package(sawtooth) has a
# component a library; headers are included by their path in this tree, below include/sawtooth.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

set(data ${CMAKE_INSTALL_DATADIR}/sawtooth)
install(DIRECTORY experiments/profiles DESTINATION ${data}/experiments COMPONENT program
        FILES_MATCHING PATTERN "*.ini" PATTERN "*.csv")
if(TARGET sawtooth)
  file(RELATIVE_PATH libraries /${CMAKE_INSTALL_BINDIR} /${CMAKE_INSTALL_LIBDIR})
  set_target_properties(sawtooth PROPERTIES INSTALL_RPATH "$ORIGIN/${libraries}")
  install(TARGETS sawtooth RUNTIME COMPONENT program)
  foreach(study orders paper)  # those of README and guide
    install(DIRECTORY experiments/studies/${study}/lists
            DESTINATION ${data}/experiments/studies/${study} COMPONENT program)
  endforeach()
  install(CODE "execute_process(COMMAND \"${CMAKE_COMMAND}\" \"-DPROGRAM=$<TARGET_FILE:sawtooth>\"
    \"-DSHARE=\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/${CMAKE_INSTALL_DATADIR}\"
    -P \"${CMAKE_CURRENT_LIST_DIR}/words.cmake\" COMMAND_ERROR_IS_FATAL ANY)" COMPONENT program)
  install(DIRECTORY plots DESTINATION ${data} COMPONENT program FILES_MATCHING PATTERN "*.py" PATTERN "*.html")
endif()
foreach(plugin sawtooth_injected sawtooth_mpi)  # the program looks for them there
  if(TARGET ${plugin})
    install(TARGETS ${plugin} LIBRARY DESTINATION lib/sawtooth COMPONENT program)
  endif()
endforeach()

# For kernels of others: <sawtooth/order_stamp.cuh> needs CUDA alone.
install(FILES kernels/common/order_stamp.cuh
        DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/sawtooth COMPONENT libraries)

# Libraries: those that others link to, then those that come along in a static build.
set(components scheduler sim)
set(own_targets sawtooth_options)
install(DIRECTORY scheduler sim DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/sawtooth
        COMPONENT libraries FILES_MATCHING PATTERN "*.hpp" PATTERN "*.inc" PATTERN "trace" EXCLUDE)
if(TARGET sawtooth_kernels)
  list(APPEND components kernels)
  foreach(target sawtooth_hopper sawtooth_tma sawtooth_kernels_shared)
    if(TARGET ${target})
      list(APPEND own_targets ${target})
    endif()
  endforeach()
  install(FILES kernels/attention/attention.h kernels/attention/attention.hpp
                kernels/attention/automatic.hpp kernels/attention/decode.hpp
                kernels/attention/variants.hpp kernels/attention/variant_list.hpp
                kernels/attention/variants.inc
          DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/sawtooth/kernels/attention COMPONENT libraries)
  install(FILES kernels/common/block_lists.hpp kernels/common/strides.hpp kernels/common/order_trace.hpp
          DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/sawtooth/kernels/common COMPONENT libraries)
  # Programs written before the API had a folder of its own include <kernels/attention.hpp>.
  foreach(header attention.h attention.hpp)
    file(CONFIGURE OUTPUT ${CMAKE_CURRENT_BINARY_DIR}/forwarders/${header}
         CONTENT "#include \"kernels/attention/${header}\"\n")
    install(FILES ${CMAKE_CURRENT_BINARY_DIR}/forwarders/${header}
            DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/sawtooth/kernels COMPONENT libraries)
  endforeach()
endif()
list(TRANSFORM components PREPEND sawtooth_ OUTPUT_VARIABLE component_targets)
foreach(target ${component_targets} ${own_targets})
  string(REPLACE sawtooth_ "" name ${target})
  set_target_properties(${target} PROPERTIES EXPORT_NAME ${name})
  get_target_property(type ${target} TYPE)
  if(type STREQUAL SHARED_LIBRARY AND NOT target STREQUAL sawtooth_kernels_shared)
    set_target_properties(${target} PROPERTIES VERSION ${PROJECT_VERSION}
      SOVERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR})
  endif()
endforeach()
install(TARGETS ${component_targets} ${own_targets} EXPORT sawtooth_targets
        ARCHIVE COMPONENT libraries LIBRARY COMPONENT libraries)

set(package_folder ${CMAKE_INSTALL_LIBDIR}/cmake/sawtooth)
install(EXPORT sawtooth_targets NAMESPACE sawtooth:: DESTINATION ${package_folder}
        COMPONENT libraries)
configure_package_config_file(experiments/packaging/sawtooth-config.cmake.in
  ${CMAKE_CURRENT_BINARY_DIR}/sawtooth-config.cmake INSTALL_DESTINATION ${package_folder})
write_basic_package_version_file(${CMAKE_CURRENT_BINARY_DIR}/sawtooth-config-version.cmake
  VERSION ${PROJECT_VERSION} COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/sawtooth-config.cmake
              ${CMAKE_CURRENT_BINARY_DIR}/sawtooth-config-version.cmake
        DESTINATION ${package_folder} COMPONENT libraries)

set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_CONTACT "The Sawtooth developers")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION science)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_RECOMMENDS python3-matplotlib)
include(CPack)
