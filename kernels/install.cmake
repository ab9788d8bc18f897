# What `cmake --install` puts where: the kernel library, its headers as "kernels/attention/attention.hpp"
# below include/sawtooth, and the package file for find_package(sawtooth).
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

set_target_properties(sawtooth_kernels PROPERTIES EXPORT_NAME kernels)
set_target_properties(sawtooth_scheduler PROPERTIES EXPORT_NAME scheduler)
set_target_properties(sawtooth_options PROPERTIES EXPORT_NAME options)
if(TARGET sawtooth_hopper)
  set(hopper_target sawtooth_hopper)
  set_target_properties(sawtooth_hopper PROPERTIES EXPORT_NAME hopper)
endif()
if(TARGET sawtooth_tma)
  set(tma_target sawtooth_tma)
  set_target_properties(sawtooth_tma PROPERTIES EXPORT_NAME tma)
endif()
install(TARGETS sawtooth_kernels ${hopper_target} ${tma_target} sawtooth_scheduler sawtooth_options
        EXPORT sawtooth_targets
        ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT kernels)
install(DIRECTORY ${PROJECT_SOURCE_DIR}/scheduler
        DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/sawtooth COMPONENT kernels
        FILES_MATCHING PATTERN "*.hpp")
install(FILES kernels/attention/attention.h kernels/attention/attention.hpp
              kernels/attention/tile_time.hpp kernels/attention/variants.hpp
        DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/sawtooth/kernels/attention COMPONENT kernels)
install(FILES kernels/common/order_trace.hpp kernels/common/strides.hpp
        DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/sawtooth/kernels/common COMPONENT kernels)

# Programs written before the API had a folder of its own include <kernels/attention.hpp>.
foreach(header attention.h attention.hpp)
  file(CONFIGURE OUTPUT ${CMAKE_CURRENT_BINARY_DIR}/forwarders/${header}
       CONTENT "#include \"kernels/attention/${header}\"\n")
  install(FILES ${CMAKE_CURRENT_BINARY_DIR}/forwarders/${header}
          DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/sawtooth/kernels COMPONENT kernels)
endforeach()

set(package_folder ${CMAKE_INSTALL_LIBDIR}/cmake/sawtooth)
install(EXPORT sawtooth_targets NAMESPACE sawtooth:: DESTINATION ${package_folder}
        COMPONENT kernels)
configure_package_config_file(kernels/sawtooth-config.cmake.in
  ${CMAKE_CURRENT_BINARY_DIR}/sawtooth-config.cmake INSTALL_DESTINATION ${package_folder})
write_basic_package_version_file(${CMAKE_CURRENT_BINARY_DIR}/sawtooth-config-version.cmake
  VERSION ${PROJECT_VERSION} COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/sawtooth-config.cmake
              ${CMAKE_CURRENT_BINARY_DIR}/sawtooth-config-version.cmake
        DESTINATION ${package_folder} COMPONENT kernels)
